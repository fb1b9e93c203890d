"""What the broker says, held for all views: jobs, sites, resources, queries, preferences."""
