"""The pages without a server: as files of a folder, or all in one file, fixed at one commit of each fleet."""
