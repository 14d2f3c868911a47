"""The two addresses of a controller: webhooks for everybody, and metrics and health for those inside."""
