"""A payment platform, seen by one merchant: customers, prices, invoices, refunds, webhooks."""
