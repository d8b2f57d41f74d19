"""What this machine gives to every process: files, folders, handles, processes; standard library only."""
