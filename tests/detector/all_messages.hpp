// One message of each kind that detectors send.

#pragma once

#include "detector/message.hpp"

#include <vector>

namespace mend::detector {

/// Of an epoch with six processes. A message without a list has no source on the wire.
inline const std::vector<Message> all_messages{
    {Message::Kind::heartbeat, {1}, {}, {}},
    {Message::Kind::heartbeat, {1}, {1}, ProcessSet{{4}}},
    {Message::Kind::new_observer, {1}, {}, {}},
    {Message::Kind::deaths, {1}, {3}, ProcessSet{{0}, {4}}},
    {Message::Kind::fence, {1}, {}, {}},
    {Message::Kind::inquiry, {1}, {3}, ProcessSet{{5}}},
    {Message::Kind::answer, {1}, {3}, ProcessSet{{5}}},
    {Message::Kind::withdrawal, {1}, {3}, ProcessSet{{5}}},
};

}  // namespace mend::detector
