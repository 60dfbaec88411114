#include "framework/local_rollback/peer_packet.hpp"

#include "base/assert.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace mend {
namespace {

// These functions visit the parts of each type in one order, for writing and reading. `visit` takes each by reference.

template <class Topology, class Visit>
void visit_topology(Topology& topology, Visit& visit) {
  visit(topology.dims);
  visit(topology.periods);
  visit(topology.index);
  visit(topology.edges);
  visit(topology.links);
}

template <class Recipe, class Visit>
void visit_recipe(Recipe& recipe, Visit& visit) {
  visit(recipe.number);
  visit(recipe.parent);
  visit(recipe.parts);
  visit_topology(recipe.topology, visit);
}

template <class Receipt, class Visit>
void visit_receipt(Receipt& receipt, Visit& visit) {
  visit(receipt.context);
  visit(receipt.tag);
  visit(receipt.count);
  visit(receipt.hash);
  visit(receipt.is_found);
}

template <class Again, class Visit>
void visit_again(Again& again, Visit& visit) {
  visit(again.voids);
  visit(again.step);
}

template <class State, class Visit>
void visit_state(State& state, Visit& visit) {
  visit(state.phase);
  visit(state.standing);
  visit(state.refuses);
  visit(state.receives_from_any);
  visit(state.version.value);
  visit(state.steps);
  visit(state.kept);
  visit(state.logged);
  visit(state.log_limit);
  visit(state.log_of_setup);
  visit(state.log_pacing.steps);
  visit(state.log_pacing.next_ask);
  visit(state.log_pacing.ahead);
  visit(state.next_number);
  visit(state.begun);
  visit(state.again);
  visit(state.nodes);
}

template <class Packet, class Visit>
void visit_packet(Packet& packet, Visit& visit) {
  visit_state(packet.state, visit);
  visit(packet.recipes);
  visit(packet.receipts.phases);
}

template <class Value>
concept Word = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

struct Writer {
  std::vector<std::uint64_t> words;

  void operator()(Word auto value) { words.push_back(static_cast<std::uint64_t>(value)); }
  void operator()(const Recipe& one) { visit_recipe(one, *this); }
  void operator()(const replay::SenderLog::Receipt& one) { visit_receipt(one, *this); }
  void operator()(const CommitAgain& one) { visit_again(one, *this); }
  template <class Element>
  void operator()(const std::vector<Element>& all) {
    (*this)(all.size());
    for (const Element& one : all) (*this)(one);
  }
};

struct Reader {
  const std::vector<std::uint64_t>& words;
  std::size_t at = 0;

  template <Word Value>
  void operator()(Value& value) {
    require(at < words.size(), "a packet has all words of its parts");
    value = static_cast<Value>(words[at++]);
  }
  void operator()(Recipe& one) { visit_recipe(one, *this); }
  void operator()(replay::SenderLog::Receipt& one) { visit_receipt(one, *this); }
  void operator()(CommitAgain& one) { visit_again(one, *this); }
  template <class Element>
  void operator()(std::vector<Element>& all) {
    std::uint64_t count = 0;
    (*this)(count);
    require(count <= words.size() - at, "a packet has all words of its lists");
    all.resize(count);
    for (Element& one : all) (*this)(one);
  }
};

}  // namespace

std::vector<std::uint64_t> PeerPacket::words() const {
  Writer writer;
  visit_packet(*this, writer);
  return std::move(writer.words);
}

PeerPacket PeerPacket::from(const std::vector<std::uint64_t>& words) {
  PeerPacket packet;
  Reader reader{words};
  visit_packet(packet, reader);
  packet.receipts.phase = packet.state.phase;
  return packet;
}

}  // namespace mend
