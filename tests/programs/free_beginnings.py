"""Says whether somebody stands where frames begin, before, in and after a function with a place; and reads its code."""

import ctypes
import dis
import marshal

api = ctypes.pythonapi
api.PyInterpreterState_Main.restype = ctypes.c_void_p
api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
api._PyInterpreterState_GetEvalFrameFunc.argtypes = [ctypes.c_void_p]
PLAIN = ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value


def stands():
    return api._PyInterpreterState_GetEvalFrameFunc(api.PyInterpreterState_Main()) != PLAIN


def placed(run=False):
    if run:
        return None  # @placed
    return stands()


def read(function):
    code = function.__code__
    return hash(code), code.co_code, marshal.dumps(code), [each.opname for each in dis.get_instructions(code)]


def again():
    for _ in range(20):
        placed()


before = read(placed), read(again)  # @begin
again()
for _ in range(3):
    free = stands()
    within = placed()
    same = (read(placed), read(again)) == before and placed.__code__.replace() == placed.__code__
    print("before", free, "within", within, "after", stands(), "same", same, flush=True)
