"""The forge that a fleet's repository is on: GitHub, GitLab or Gitea, asked for one pull request.

``address`` says which forge it is and where its API is, ``calls`` sends one bounded request, and ``pull_requests``
finds, opens, renews and closes the pull request of a branch in the words of each forge.
"""
