"""A household budget: categories with monthly limits, expenses, income, savings goals."""
