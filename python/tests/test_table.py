import random
import struct

from dptrain import _table


def test_columns_of_numbers_are_written_as_their_cells_are():
    rng = random.Random(1)
    floats = [0.0, -0.0, 1.0, -1.0, 1e15, 1e16, -1e16, 123456789012345680.0, 1e22, 1e-5, 0.1, float("nan"), float("inf"), -float("inf"), 5e-324]
    for _ in range(3000):
        floats += [struct.unpack("<d", rng.randbytes(8))[0], float(rng.randrange(-(10**18), 10**18)), rng.gauss(0, 1)]
    whole = [0, -1, 10**30, *(rng.randrange(-(10**20), 10**20) for _ in range(100))]
    for column in (floats, whole, [*floats[:20], None], [True, 1, 1.0, "1.0"], []):
        assert _table._texts(column, _table.text) == [_table.text(cell) for cell in column]
