"""The two addresses of a controller: webhooks for everybody; metrics, health and the page for those inside."""
