"""Generates the client from openapi.json when a wheel is built: nothing that is generated is kept."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "speech_gateway_client"


class GeneratedClient(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        made = Path(self.folder.name) / PACKAGE
        options = {"path": "openapi.json", "config": "generator.yaml", "meta": "none", "output-path": str(made)}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        subprocess.run(
            [sys.executable, "-m", "openapi_python_client", "generate", *words, "--fail-on-warning"],
            cwd=self.root,
            check=True,
        )
        # The package's own __init__.py stands in place of the generated one.
        for entry in made.iterdir():
            if not entry.name.startswith((".", "__")):
                build_data["force_include"][str(entry)] = f"{PACKAGE}/{entry.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.folder.cleanup()
