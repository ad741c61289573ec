// Where the checkout lies, for tests that read its files. The path is compiled into one file only,
// so that the objects of two checkouts are the same and the compiler cache serves both.
#pragma once

#include <string>

namespace deputy::tests {
const std::string& source_dir();
}
