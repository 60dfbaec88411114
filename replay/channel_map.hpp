#pragma once

#include "replay/channel.hpp"

#include <map>

namespace mend::replay {

/// Values by channel. The value of the channel that was asked for last is found at once: programs often use one channel
/// many times in a row.
template <class Value>
class ChannelMap {
 public:
  ChannelMap() = default;
  ChannelMap(ChannelMap&&) = default;
  ChannelMap& operator=(ChannelMap&&) = default;
  ChannelMap(const ChannelMap&) = delete;
  ChannelMap& operator=(const ChannelMap&) = delete;
  ~ChannelMap() = default;

  /// Returns the value of `channel`; an initial one if there was none.
  Value& operator[](const Channel& channel) {
    if (last_ == nullptr || last_->first != channel) last_ = &*all_.try_emplace(channel).first;
    return last_->second;
  }
  Value& at(const Channel& channel) { return all_.at(channel); }
  bool empty() const { return all_.empty(); }
  void clear() {
    last_ = nullptr;
    all_.clear();
  }

  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  using All = std::map<Channel, Value>;

  All all_;
  typename All::value_type* last_ = nullptr;
};

}  // namespace mend::replay
