"""A sales CRM, seen by one sales representative: leads, contacts, companies, deals, activities and tasks."""
