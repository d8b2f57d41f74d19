"""Works until it is ended: to attach to. Says ``ready`` once it is at work."""


def work(count):
    total = [0] * 2000  # the allocator is busy
    total[0] = count  # @work
    return total


print("ready", flush=True)
count = 0
while True:
    count = work(count)[0] + 1
