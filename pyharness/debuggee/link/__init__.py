"""How a program comes to its controller and talks with it: visits, children, threads and sockets of ours."""
