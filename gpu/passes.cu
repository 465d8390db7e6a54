/// Greedy passes on a card: what of them runs here, and the tables they read. pass_kernels.cuh has the
/// algorithm.
#include "passes.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "device.hpp"
#include "pass_kernels.cuh"

struct SubspectraTable {
  SubspectraDevice* device = nullptr;
  int64_t rows = 0, features = 0, lead = 0;
  int bytes = 8;
  gpu::Held<char> numbers;
};

struct SubspectraPass {
  SubspectraDevice* device = nullptr;
  SubspectraTable* table = nullptr;
  int rule = gpu::kScalar, class_count = 0;
  int64_t n = 0, lead = 0, slots = 0, most = 0, pivots = 0, in_panel = 0;
  double sign = 1.0, tie = 0.0, dependent = 0.0, digits_lost = 0.0;
  int r = 1;
  int32_t end = SUBSPECTRA_PASS_RUNNING;
  bool begun = false;
  gpu::Held<double> s, panel, c, d, start, scores, best, ratio, row, column, unit, weights, v;
  gpu::Held<int8_t> state;
  gpu::Held<int32_t> feature, classes, holes, sources;
  gpu::Held<gpu::Step> step;
  gpu::Held<gpu::Pivot> order;
  std::vector<int32_t> feature_of, slot_of, forced;  ///< by slot; by feature, -1 once chosen
};

namespace gpu {
namespace {

constexpr int64_t kMostBlocks = 1 << 20;  ///< of kernels that go on by the size of their grid
int64_t pass_blocks(int64_t count) { return std::max<int64_t>(1, (count + kPassThreads - 1) / kPassThreads); }
int64_t some_blocks(int64_t count) { return std::min(pass_blocks(count), kMostBlocks); }

int64_t lead_of(int64_t n) { return padded_to(n, 32); }

template <class T>
void put(const Held<T>& to, const T* from, int64_t count, GPU(Stream_t) stream) {
  check(GPU(MemcpyAsync)(to.get(), from, static_cast<size_t>(count) * sizeof(T), GPU(MemcpyHostToDevice),
                         stream),
        "a copy");
}
template <class T>
void get(T* to, const T* from, int64_t count, GPU(Stream_t) stream) {
  check(GPU(MemcpyAsync)(to, from, static_cast<size_t>(count) * sizeof(T), GPU(MemcpyDeviceToHost), stream),
        "a copy");
}
void wait(GPU(Stream_t) stream, const char* what) { check(GPU(StreamSynchronize)(stream), what); }

PassView view_of(const SubspectraPass& pass) {
  PassView view{};
  view.s = pass.table == nullptr ? pass.s.get() : nullptr;
  view.panel = pass.panel.get();
  view.c = pass.c.get();
  view.d = pass.d.get();
  view.start = pass.start.get();
  view.scores = pass.scores.get();
  view.best = pass.best.get();
  view.ratio = pass.ratio.get();
  view.row = pass.row.get();
  view.state = pass.state.get();
  view.feature = pass.feature.get();
  view.step = pass.step.get();
  view.order = pass.order.get();
  view.column = pass.column.get();
  view.unit = pass.unit.get();
  view.lead = pass.lead;
  view.r = pass.r;
  view.sign = pass.sign;
  view.tie = pass.tie;
  view.dependent = pass.dependent;
  view.digits_lost = pass.digits_lost;
  return view;
}

template <class Body>
void by_rule(const SubspectraPass& pass, const Body& body) {
  const auto with = [&](auto of_table) {
    switch (pass.rule) {
      case kScalar:
        return body(std::integral_constant<int, kScalar>(), of_table);
      case kWhitened:
        return body(std::integral_constant<int, kWhitened>(), of_table);
      default:
        return body(std::integral_constant<int, kEigenvalue>(), of_table);
    }
  };
  if (pass.table != nullptr) {
    with(std::true_type());
  } else {
    with(std::false_type());
  }
}

/// B^-1 in place of B, and B^-1 M in place of M; false where a pivot is too small.
bool invert(SubspectraPass& pass, double singular) {
  const auto stream = pass.device->stream;
  Held<double> g, by_rows, by_columns, of_c;
  Held<int> broken;
  g.take(pass.n * kPanel, "a panel");
  by_rows.take(kPanel * kPanel, "a panel");
  by_columns.take(kPanel * kPanel, "a panel");
  of_c.take(int64_t{pass.r} * kPanel, "a panel");
  broken.take(1, "a panel");
  set_zero(broken, stream);
  double* const s = pass.s.get();
  for (int64_t first = 0; first < pass.n; first += kPanel) {
    const int width = static_cast<int>(std::min<int64_t>(kPanel, pass.n - first));
    launch(sweep_take_kernel, some_blocks(pass.n * kPanel), stream, s, pass.lead, pass.n, first, width,
           g.get());
    launch(sweep_factor_kernel, 1, stream, g.get(), first, width, singular, pass.start.get(), broken.get(),
           by_rows.get(), by_columns.get(), pass.c.get(), pass.lead, pass.r, of_c.get());
    launch(sweep_solve_kernel, (pass.n + kSweepRows - 1) / kSweepRows, stream, g.get(), pass.n, first, width,
           by_rows.get(), by_columns.get(), pass.panel.get(), pass.c.get(), pass.lead, pass.r, of_c.get());
    rank_k(*pass.device, pass.n, kPanel, -1.0, pass.panel.get(), kPanel, 1.0, s, pass.lead);
    launch(sweep_put_kernel, some_blocks(pass.n * kPanel), stream, s, pass.lead, pass.n, first, width,
           g.get());
    check(GPU(GetLastError)(), "the inverse");
  }
  launch(negate_kernel, some_blocks(pass.n * pass.lead), stream, s, pass.n * pass.lead);
  int is_broken = 0;
  get(&is_broken, broken.get(), 1, stream);
  wait(stream, "the inverse");
  return is_broken == 0;
}

/// T = M'U over all features: what a backward pass begins with.
void take_t(const SubspectraPass& pass, const double* m, Step& step) {
  std::vector<double> u(static_cast<size_t>(pass.lead * pass.r));
  get(u.data(), pass.c.get(), pass.lead * pass.r, pass.device->stream);
  wait(pass.device->stream, "a copy");
  for (int64_t e = 0; e < pass.r; ++e)
    for (int64_t f = 0; f <= e; ++f) {
      double one = 0.0, other = 0.0;
      for (int64_t j = 0; j < pass.n; ++j) {
        one += m[e * pass.n + j] * u[static_cast<size_t>(f * pass.lead + j)];
        other += m[f * pass.n + j] * u[static_cast<size_t>(e * pass.lead + j)];
      }
      step.t[e * kMostDirections + f] = step.t[f * kMostDirections + e] = 0.5 * (one + other);
    }
}

void take_table_parts(SubspectraPass& pass, const SubspectraPassProblem& problem) {
  const auto stream = pass.device->stream;
  pass.column.take(pass.lead, "a column");
  pass.v.take(pass.table->lead, "a column");
  pass.weights.take(pass.table->rows, "the weights");
  put(pass.weights, problem.weights, pass.table->rows, stream);
  pass.classes.take(pass.table->rows, "the classes");
  put(pass.classes, problem.classes, pass.table->rows, stream);
  if (problem.unit != nullptr) {
    pass.unit.take(pass.n, "the units");
    put(pass.unit, problem.unit, pass.n, stream);
  }
}

void take_matrix(SubspectraPass& pass, const SubspectraPassProblem& problem) {
  pass.s.take(pass.n * pass.lead, "the matrix");
  set_zero(pass.s, pass.device->stream);
  if (problem.rows > 0) {
    Held<double> factor;
    factor.take(pass.n * problem.rows, "the table");
    upload(factor.get(), problem.factor, problem.rows, problem.factor_lead, problem.rows, pass.n);
    rank_k(*pass.device, pass.n, problem.rows, 1.0, factor.get(), problem.rows, 0.0, pass.s.get(), pass.lead);
    wait(pass.device->stream, "a product");
  } else {
    wait(pass.device->stream, "clearing memory");
    upload(pass.s.get(), problem.matrix, pass.n, problem.matrix_lead, pass.lead, pass.n);
  }
}

/// What is wrong with a problem; null for nothing.
const char* unfit(const SubspectraPassProblem& problem) {
  if (problem.features < 1 || problem.features > INT32_MAX - 1) return "the number of features";
  if (problem.directions < 1 || problem.directions > kMostDirections) return "the number of directions";
  if (problem.criterion < SUBSPECTRA_PASS_LARGEST || problem.criterion > SUBSPECTRA_PASS_WILKS)
    return "the criterion";
  if (problem.most < 1 || problem.most > problem.features) return "the number of steps";
  if (problem.forced_count < 0 || problem.forced_count > problem.most) return "what is forced";
  for (int64_t x = 0; x < problem.forced_count; ++x)
    if (problem.forced[x] < 0 || problem.forced[x] >= problem.features) return "what is forced";
  if (problem.table != nullptr &&
      (problem.backward != 0 || problem.table->features != problem.features || problem.diagonal == nullptr))
    return "the table";
  return nullptr;
}

void start(SubspectraPass& pass, const SubspectraPassProblem& problem) {
  const auto stream = pass.device->stream;
  const int64_t n = pass.n, blocks = pass_blocks(n);
  pass.c.take(pass.lead * pass.r, "the directions");
  set_zero(pass.c, stream);
  wait(stream, "clearing memory");
  upload(pass.c.get(), problem.direction, n, n, pass.lead, pass.r);
  pass.d.take(pass.lead, "the pivots");
  pass.start.take(pass.lead, "the pivots");
  pass.scores.take(pass.lead, "the scores");
  pass.best.take(blocks, "the scores");
  pass.ratio.take(blocks, "the scores");
  pass.feature.take(pass.lead, "the features");
  pass.state.take(pass.lead, "the features");
  set_zero(pass.state, stream);
  if (problem.held != nullptr) {
    std::vector<int8_t> state(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) state[static_cast<size_t>(j)] = problem.held[j] != 0 ? kHeld : kAlive;
    put(pass.state, state.data(), n, stream);
    wait(stream, "a copy");
  }
  pass.order.take(pass.most, "the order");
  pass.step.take(1, "the step");
  const bool matrix = pass.table == nullptr;
  pass.panel.take(matrix ? n * kPanel : pass.lead * pass.most, "what the pivots leave");
  set_zero(pass.panel, stream);
  pass.row.take(matrix ? kPanel : pass.most, "a row");
  Step step{};
  step.slot = -1;
  step.log_scale = pass.r == 1 && problem.criterion == SUBSPECTRA_PASS_WILKS ? 1 : 0;
  if (matrix) {
    pass.holes.take(kPanel, "a panel");
    pass.sources.take(kPanel, "a panel");
    take_matrix(pass, problem);
    launch(slots_kernel, blocks, stream, view_of(pass), n, problem.rows > 0 ? problem.shift : 0.0, nullptr);
    check(GPU(GetLastError)(), "the diagonal");
    if (problem.backward != 0) {
      if (!invert(pass, problem.singular))
        fail(SUBSPECTRA_DEVICE_UNSUITED, "the matrix of %lld features is singular, or nearly so",
             static_cast<long long>(n));
      launch(slots_kernel, blocks, stream, view_of(pass), n, 0.0, nullptr);
      take_t(pass, problem.direction, step);
    }
  } else {
    take_table_parts(pass, problem);
    Held<double> diagonal;
    diagonal.take(n, "the diagonal");
    put(diagonal, problem.diagonal, n, stream);
    launch(slots_kernel, blocks, stream, view_of(pass), n, 0.0, diagonal.get());
    wait(stream, "the diagonal");
  }
  put(pass.step, &step, 1, stream);
  by_rule(pass, [&](auto rule, auto /*of_table*/) {
    launch(begin_kernel<decltype(rule)::value>, 1, stream, view_of(pass));
  });
  check(GPU(GetLastError)(), "the start of a pass");
  wait(stream, "the start of a pass");
}

/// d and C without the pivot, and the scores of all slots.
template <int kRule, bool kOfTable>
void advance(const SubspectraPass& pass) {
  launch(advance_kernel<kRule, kOfTable>, pass_blocks(pass.slots), pass.device->stream, view_of(pass),
         pass.slots);
}

template <class Number>
void make_column(const SubspectraPass& pass) {
  const auto& table = *pass.table;
  const auto* const x = reinterpret_cast<const Number*>(table.numbers.get());
  launch(direction_kernel<Number>, 1, pass.device->stream, view_of(pass), x, table.lead, table.rows,
         pass.weights.get(), pass.classes.get(), pass.class_count, pass.v.get());
  const int64_t warps = (pass.n + kColumnsEach - 1) / kColumnsEach;
  launch(column_kernel<Number>, pass_blocks(warps * kWarp), pass.device->stream, pass.step.get(), x,
         table.lead, pass.n, pass.v.get(), pass.column.get());
}

/// The panel into S; the places of what it holds are filled from the end.
template <int kRule>
void empty_panel(SubspectraPass& pass) {
  const auto stream = pass.device->stream;
  rank_k(*pass.device, pass.slots, kPanel, -1.0, pass.panel.get(), kPanel, 1.0, pass.s.get(), pass.lead);
  const int64_t left = pass.slots - kPanel;
  std::vector<int32_t> holes, sources;
  for (int64_t slot = 0; slot < left; ++slot)
    if (pass.feature_of[static_cast<size_t>(slot)] < 0) holes.push_back(static_cast<int32_t>(slot));
  for (int64_t slot = left; slot < pass.slots; ++slot)
    if (pass.feature_of[static_cast<size_t>(slot)] >= 0) sources.push_back(static_cast<int32_t>(slot));
  const auto count = static_cast<int>(holes.size());
  if (count > 0) {
    put(pass.holes, holes.data(), count, stream);
    put(pass.sources, sources.data(), count, stream);
    launch(move_matrix_kernel, some_blocks(left * count), stream, pass.s.get(), pass.lead, left,
           pass.holes.get(), pass.sources.get(), count);
    launch(move_slots_kernel, 1, stream, view_of(pass), pass.holes.get(), pass.sources.get(), count);
    for (size_t h = 0; h < holes.size(); ++h) {
      const int32_t feature = pass.feature_of[static_cast<size_t>(sources[h])];
      pass.feature_of[static_cast<size_t>(holes[h])] = feature;
      pass.slot_of[static_cast<size_t>(feature)] = holes[h];
    }
  }
  launch(empty_panel_kernel, 1, stream, pass.step.get());
  pass.slots = left;
  pass.in_panel = 0;
  advance<kRule, false>(pass);
  check(GPU(GetLastError)(), "a panel");
  wait(stream, "a panel");
}

template <int kRule, bool kOfTable>
void steps(SubspectraPass& pass, int64_t count, int32_t* order, int64_t& done) {
  const auto stream = pass.device->stream;
  if (!pass.begun) advance<kRule, kOfTable>(pass);
  pass.begun = true;
  std::vector<Pivot> named(kPanel);
  while (done < count && pass.pivots < pass.most && pass.end == SUBSPECTRA_PASS_RUNNING) {
    int64_t batch = std::min(count - done, pass.most - pass.pivots);
    batch = std::min<int64_t>(batch, kPanel - pass.in_panel);
    for (int64_t x = 0; x < batch; ++x) {
      const int64_t next = pass.pivots + x;
      int forced = -1;
      if (next < static_cast<int64_t>(pass.forced.size()))
        forced = pass.slot_of[static_cast<size_t>(pass.forced[static_cast<size_t>(next)])];
      launch(choose_kernel<kRule, kOfTable>, 1, stream, view_of(pass), pass.slots, forced);
      if (next + 1 == pass.most) continue;  // nobody asks what is left
      if (kOfTable) {
        if (pass.table->bytes == 4) {
          make_column<float>(pass);
        } else {
          make_column<double>(pass);
        }
      }
      advance<kRule, kOfTable>(pass);
    }
    check(GPU(GetLastError)(), "a pass");
    Step step;
    get(&step, pass.step.get(), 1, stream);
    get(named.data(), pass.order.get() + pass.pivots, batch, stream);
    wait(stream, "a pass");
    const int64_t got = step.pivots - pass.pivots;
    for (int64_t x = 0; x < got; ++x) {
      const Pivot pivot = named[static_cast<size_t>(x)];
      order[done++] = pivot.feature;
      pass.feature_of[static_cast<size_t>(pivot.slot)] = -1;
      pass.slot_of[static_cast<size_t>(pivot.feature)] = -1;
    }
    pass.pivots += got;
    pass.end = step.end;
    if (kOfTable) continue;
    pass.in_panel += got;
    if (pass.in_panel == kPanel && pass.pivots < pass.most && pass.end == SUBSPECTRA_PASS_RUNNING &&
        pass.slots > kPanel)
      empty_panel<kRule>(pass);
  }
  if (pass.end == SUBSPECTRA_PASS_RUNNING && pass.pivots == pass.most) pass.end = SUBSPECTRA_PASS_NONE_LEFT;
}

}  // namespace

int table_open(SubspectraDevice* device, int64_t rows, int64_t features, int bytes, SubspectraTable** out,
               char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*device);
    if (rows < 1 || features < 1 || (bytes != 4 && bytes != 8))
      fail(SUBSPECTRA_DEVICE_FAILED, "no such table: %lld x %lld numbers of %d bytes",
           static_cast<long long>(rows), static_cast<long long>(features), bytes);
    auto table = std::make_unique<SubspectraTable>();
    table->device = device;
    table->rows = rows;
    table->features = features;
    table->bytes = bytes;
    table->lead = padded_to(rows, 16 / bytes);
    const int64_t all = table->lead * features * bytes;
    require_memory(static_cast<uint64_t>(all) + (uint64_t{64} << 20), features);
    table->numbers.take(all, "the table");
    if (table->lead != rows) set_zero(table->numbers, device->stream);
    wait(device->stream, "clearing memory");
    *out = table.release();
  });
}
void table_close(SubspectraTable* table) {
  if (table == nullptr) return;
  (void)GPU(SetDevice)(table->device->card);
  (void)GPU(StreamSynchronize)(table->device->stream);
  delete table;
}
int table_put(SubspectraTable* table, int64_t first, int64_t count, const void* numbers, char* why,
              size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*table->device);
    if (first < 0 || count < 0 || first + count > table->features)
      fail(SUBSPECTRA_DEVICE_FAILED, "no such columns: %lld from %lld on", static_cast<long long>(count),
           static_cast<long long>(first));
    if (count == 0) return;
    const auto row = static_cast<size_t>(table->rows * table->bytes),
               lead = static_cast<size_t>(table->lead * table->bytes);
    check(GPU(Memcpy2D)(table->numbers.get() + static_cast<size_t>(first) * lead, lead, numbers, row, row,
                        static_cast<size_t>(count), GPU(MemcpyHostToDevice)),
          "taking the table onto the card");
  });
}

uint64_t pass_bytes(const SubspectraPassProblem* problem) {
  const int64_t n = problem->features, lead = lead_of(n);
  int64_t numbers = lead * (problem->directions + 6);
  if (problem->table != nullptr) {
    numbers += lead * problem->most + 3 * n;
  } else {
    numbers += n * lead + 2 * n * kPanel;
    numbers += std::max<int64_t>(0, problem->rows) * n;
  }
  return static_cast<uint64_t>(numbers) * 8 + (uint64_t{64} << 20);
}

int pass_open(SubspectraDevice* device, const SubspectraPassProblem* problem, SubspectraPass** out, char* why,
              size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*device);
    if (const char* what = unfit(*problem))
      fail(SUBSPECTRA_DEVICE_FAILED, "no such pass: %s does not fit", what);
    auto pass = std::make_unique<SubspectraPass>();
    pass->device = device;
    pass->table = problem->table;
    pass->n = pass->slots = problem->features;
    pass->lead = lead_of(pass->n);
    pass->r = static_cast<int>(problem->directions);
    pass->most = problem->most;
    pass->sign = problem->backward != 0 ? -1.0 : 1.0;
    pass->tie = problem->tie;
    pass->dependent = problem->backward != 0 ? 0.0 : problem->dependent;
    pass->digits_lost = problem->backward != 0 ? problem->digits_lost : 0.0;
    pass->class_count = problem->class_count;
    pass->rule = pass->r == 1 || problem->criterion == SUBSPECTRA_PASS_TRACE ? kScalar
                 : problem->criterion == SUBSPECTRA_PASS_WILKS               ? kWhitened
                                                                             : kEigenvalue;
    pass->feature_of.resize(static_cast<size_t>(pass->n));
    for (int64_t j = 0; j < pass->n; ++j) pass->feature_of[static_cast<size_t>(j)] = static_cast<int32_t>(j);
    pass->slot_of = pass->feature_of;
    if (problem->forced_count > 0)
      pass->forced.assign(problem->forced, problem->forced + problem->forced_count);
    require_memory(pass_bytes(problem), pass->n);
    start(*pass, *problem);
    *out = pass.release();
  });
}
void pass_close(SubspectraPass* pass) {
  if (pass == nullptr) return;
  (void)GPU(SetDevice)(pass->device->card);
  (void)GPU(StreamSynchronize)(pass->device->stream);
  delete pass;
}

int pass_steps(SubspectraPass* pass, int64_t count, int32_t* order, int64_t* done, int32_t* state, char* why,
               size_t why_size) {
  *done = 0;
  return guarded(why, why_size, [&] {
    on(*pass->device);
    by_rule(*pass, [&](auto rule, auto of_table) {
      steps<decltype(rule)::value, decltype(of_table)::value>(*pass, count, order, *done);
    });
    *state = pass->end;
  });
}

int pass_dependent(SubspectraPass* pass, int8_t* dependent, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*pass->device);
    std::vector<int8_t> state(static_cast<size_t>(pass->slots));
    get(state.data(), pass->state.get(), pass->slots, pass->device->stream);
    wait(pass->device->stream, "a copy");
    std::memset(dependent, 0, static_cast<size_t>(pass->n));
    for (int64_t slot = 0; slot < pass->slots; ++slot) {
      const int32_t feature = pass->feature_of[static_cast<size_t>(slot)];
      if (feature >= 0 && state[static_cast<size_t>(slot)] == kDependent) dependent[feature] = 1;
    }
  });
}

}  // namespace gpu
