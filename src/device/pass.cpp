#include "device/pass.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace subspectra::device {

Columns::Columns(std::shared_ptr<const Device> device, Index rows, Index features, int bytes)
    : device_(std::move(device)) {
  std::array<char, 512> why{};
  const int code =
      device_->table().table_open(device_->handle(), rows, features, bytes, &handle_, why.data(), why.size());
  require_done(code, why.data());
}

Columns::~Columns() { device_->table().table_close(handle_); }

void Columns::put(Index first, Index count, const void* numbers) {
  std::array<char, 512> why{};
  const int code = device_->table().table_put(handle_, first, count, numbers, why.data(), why.size());
  require_done(code, why.data());
}

Pass::Pass(std::shared_ptr<const Device> device, const SubspectraPassProblem& problem)
    : device_(std::move(device)), possible_(static_cast<std::size_t>(problem.features), 1) {
  for (Index j = 0; problem.held != nullptr && j < problem.features; ++j) {
    if (problem.held[j] != 0) possible_[static_cast<std::size_t>(j)] = 0;
  }
  std::array<char, 512> why{};
  const int code = device_->table().pass_open(device_->handle(), &problem, &handle_, why.data(), why.size());
  require_done(code, why.data());
}

Pass::~Pass() { device_->table().pass_close(handle_); }

int Pass::steps(Index count, std::vector<Index>& order) {
  std::vector<std::int32_t> named(static_cast<std::size_t>(count), -1);
  std::array<char, 512> why{};
  std::int64_t done = 0;
  std::int32_t state = SUBSPECTRA_PASS_RUNNING;
  const int code =
      device_->table().pass_steps(handle_, count, named.data(), &done, &state, why.data(), why.size());
  require_done(code, why.data());
  if (done < 0 || done > count || (done == 0 && state == SUBSPECTRA_PASS_RUNNING))
    throw Error(fmt::format("the card failed: it took {} of {} steps", done, count));
  for (std::int64_t i = 0; i < done; ++i) {
    const Index j = named[static_cast<std::size_t>(i)];
    if (j < 0 || j >= static_cast<Index>(possible_.size()) || possible_[static_cast<std::size_t>(j)] == 0)
      throw Error(fmt::format("the card failed: it chose feature {}, which cannot be", j));
    possible_[static_cast<std::size_t>(j)] = 0;
    order.push_back(j);
  }
  return state;
}

std::vector<Index> Pass::dependent() const {
  std::vector<std::int8_t> marks(possible_.size(), 0);
  std::array<char, 512> why{};
  const int code = device_->table().pass_dependent(handle_, marks.data(), why.data(), why.size());
  require_done(code, why.data());
  std::vector<Index> features;
  for (std::size_t j = 0; j < marks.size(); ++j) {
    if (marks[j] != 0) features.push_back(static_cast<Index>(j));
  }
  return features;
}

}  // namespace subspectra::device
