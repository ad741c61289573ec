#include "explore/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace deputy::explore {
namespace {

double value_at(const Parameter& p, double gene) {
  double value =
      p.logarithmic ? p.from * std::pow(p.to / p.from, gene) : p.from + gene * (p.to - p.from);
  if (p.multiple_of > 0) value = std::round(value / p.multiple_of) * p.multiple_of;
  return value;
}

}  // namespace

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Point::id() const {
  std::string out;
  for (const Assignment& a : sets) out += a.key + "=" + a.value + "\n";
  return out;
}

Expression::Lookup Space::lookup(const Point& point) const {
  return [this, &point](const std::string& name) -> std::optional<double> {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == name) return point.numbers[i];
    for (const Assignment& a : point.sets)
      if (a.key == name) return number_of(a.value);
    return base ? base(name) : std::nullopt;
  };
}

base::Result<Point> Space::point(const Genes& genes) const {
  Point out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (p.levels.empty()) {
      const double value = value_at(p, genes[i]);
      out.texts.push_back(base::param_text(value)), out.numbers.push_back(value);
      out.sets.push_back({p.key, out.texts.back()});
      continue;
    }
    const auto count = p.levels.size();
    const auto index =
        std::min(static_cast<std::size_t>(genes[i] * static_cast<double>(count)), count - 1);
    const Level& level = p.levels[index];
    out.texts.push_back(level.text);
    out.numbers.push_back(level.number.value_or(static_cast<double>(index)));
    out.sets.insert(out.sets.end(), level.sets.begin(), level.sets.end());
  }
  for (const Linked& l : linked) {
    DEPUTY_ASSIGN(const double value, l.value.value(lookup(out)));
    out.sets.push_back({l.key, base::param_text(value)});
  }
  std::ranges::sort(out.sets);
  return out;
}

base::Result<bool> Space::allowed(const Point& point) const {
  for (const Expression& e : constraints) {
    DEPUTY_ASSIGN(const double value, e.value(lookup(point)));
    if (value == 0) return false;
  }
  return true;
}

base::Result<std::vector<Genes>> Space::grid() const {
  constexpr double kMost = 1e7;
  double count = 1;
  for (const Parameter& p : parameters) {
    if (p.levels.empty())
      return base::Error{base::ErrorKind::kConfig, "parameters." + p.name, "a grid needs levels",
                         "give 'steps', or choose another method"};
    count *= static_cast<double>(p.levels.size());
  }
  if (count > kMost)
    return base::Error{base::ErrorKind::kConfig, "parameters",
                       fmt::format("the grid has {:.3g} points, more than {:.0g}", count, kMost),
                       "use fewer levels, or the method lhs, random or nsga2"};
  std::vector<Genes> out;
  out.reserve(static_cast<std::size_t>(count));
  std::vector<std::size_t> at(parameters.size(), 0);
  for (;;) {
    Genes genes;
    for (std::size_t i = 0; i < at.size(); ++i)
      genes.push_back((static_cast<double>(at[i]) + 0.5) /
                      static_cast<double>(parameters[i].levels.size()));
    out.push_back(std::move(genes));
    std::size_t i = at.size();
    while (i > 0 && ++at[i - 1] == parameters[i - 1].levels.size()) at[--i] = 0;
    if (i == 0) return out;
  }
}

}  // namespace deputy::explore
