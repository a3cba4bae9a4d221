"""The helpers beside these tests are importable by name, here and in the processes that they start."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)  # models as small as these gain nothing from more
