"""The reference that the program itself prints: topics of ``argosy help`` and schemas of ``argosy schema``."""
