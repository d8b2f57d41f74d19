"""Asked of the user's interpreter by ``python -c``: imports torch and our extension, and says what they are."""

import json
import os

answer: dict[str, object] = {"absent": False, "error": "", "harness_error": "", "harness_remedy": "", "harness": ""}
try:
    import torch
except ModuleNotFoundError as error:
    answer["absent"] = error.name == "torch"
    answer["error"] = f"{type(error).__name__}: {error}"
except Exception as error:  # noqa: BLE001  (whatever keeps torch from being imported is the answer)
    answer["error"] = f"{type(error).__name__}: {error}"
else:
    answer |= {
        "version": torch.__version__,
        "debug": bool(getattr(torch.version, "debug", False)),
        "cuda": torch.version.cuda or "",
        "hip": getattr(torch.version, "hip", None) or "",
        "devices": torch.cuda.device_count() if torch.version.cuda or getattr(torch.version, "hip", None) else 0,
        "cxx11_abi": bool(torch.compiled_with_cxx11_abi()),
        "libraries": os.path.join(os.path.dirname(os.path.realpath(torch.__file__)), "lib"),  # noqa: PTH118, PTH120
    }
    try:
        from pyharness.native.build import described
        from pyharness.native.load import has_engine

        answer["harness"] = described() if has_engine() else ""
    except ImportError:  # it need not be installed there
        answer["harness"] = ""
    except Exception as error:  # noqa: BLE001  (as above)
        answer["harness_error"] = getattr(error, "message", f"{type(error).__name__}: {error}")
        answer["harness_remedy"] = getattr(error, "remedy", "")

print("pyharness-doctor: " + json.dumps(answer))
