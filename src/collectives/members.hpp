#pragma once

// The members of a class that run, start and make persistent the operation of the same name.
#define WISP_LIST(...) __VA_ARGS__
#define WISP_MEMBERS(Class, name, parameters, arguments)            \
  [[gnu::hot]] void Class::name(WISP_LIST parameters) const {       \
    wisp::name(*this, WISP_LIST arguments).run();                   \
  }                                                                 \
  [[gnu::hot]] Request Class::i##name(WISP_LIST parameters) const { \
    return wisp::name(*this, WISP_LIST arguments).start();          \
  }                                                                 \
  Request Class::name##_init(WISP_LIST parameters) const {          \
    return wisp::name(*this, WISP_LIST arguments).persistent();     \
  }
