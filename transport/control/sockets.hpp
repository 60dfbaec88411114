// Functions on sockets for the files of this folder.

#pragma once

#include "base/error.hpp"
#include "transport/control/control_network.hpp"

#include <asio.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

namespace mend::transport {

/// Returns the bytes of `value` as they are sent, in the byte order of this machine.
template <class T>
auto bytes_of(T& value) {
  return asio::buffer(&value, sizeof value);
}

/// Closes the socket in child processes that the application starts, so that they do not hold it open.
template <class Socket>
void close_on_exec(Socket& socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

inline void prepare(asio::ip::tcp::socket& socket) {
  close_on_exec(socket);
  asio::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
}

inline asio::ip::tcp::endpoint endpoint_of(const ControlAddress& address) {
  return {asio::ip::address_v4(address.host.value), address.port};
}

/// Makes `acceptor` listen at `host`, at a port that the system chooses, and draws a key for it. Throws
/// EnvironmentError if it cannot; `what` is the name of the listener in the error text.
inline ControlAddress listen_at(Ipv4 host, asio::ip::tcp::acceptor& acceptor, const char* what) {
  ControlAddress address{host, 0, {}};
  if (::getrandom(address.key.data(), address.key.size(), 0) != static_cast<ssize_t>(address.key.size())) {
    throw EnvironmentError("the system gives no random numbers");
  }
  try {
    const auto endpoint = endpoint_of(address);
    acceptor.open(endpoint.protocol());
    close_on_exec(acceptor);
    acceptor.bind(endpoint);
    acceptor.listen();
  } catch (const std::system_error& error) {
    throw EnvironmentError(fmt::format("{} cannot listen at {}: {}", what, to_string(host), error.code().message()));
  }
  address.port = acceptor.local_endpoint().port();
  return address;
}

}  // namespace mend::transport
