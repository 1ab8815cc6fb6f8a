"""For asv: times, memory and a user-defined number; combinations that fail or are skipped, and a failing benchmark."""


class Sort:
    params = ([10, 100], ["up", "down"])
    param_names = ("n", "order")
    number, repeat, rounds, warmup_time = 5, 4, 1, 0

    def setup(self, n, order):
        if (n, order) == (100, "up"):
            raise NotImplementedError
        if (n, order) == (10, "up"):
            raise ValueError
        self.numbers = list(range(n))

    def time_sort(self, n, order):
        sorted(self.numbers)

    def track_length(self, n, order):
        return len(self.numbers)


def time_join():
    "".join(["a"] * 10)


vars(time_join).update(number=5, repeat=4, rounds=2, warmup_time=0)


def mem_list():
    return [0] * 100


def peakmem_list():
    return [0] * 100


def time_broken():
    raise ValueError
