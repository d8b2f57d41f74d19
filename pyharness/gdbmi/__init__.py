"""gdb/MI, the channel by which the controller talks to gdb."""
