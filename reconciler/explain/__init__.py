"""The reasons for a placement: decisions shown step by step."""
