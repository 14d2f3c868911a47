"""Why an object is where it is: decisions shown step by step."""
