// Names of tests whose parameter is the place where a process dies.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

/// The place, as in "1@disk.write", with underscores for what the name of a test may not have.
template <class Place>
std::string place_name(const testing::TestParamInfo<Place>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '@'; }, '_');
  return name;
}
