# SPDX-License-Identifier: Apache-2.0
"""What the tests of the real binary share: the center as a process, its web API, and waiting."""
