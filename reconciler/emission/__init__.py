"""Pure: objects of other tools by which these deliver what was rendered, made from trees of clusters."""
