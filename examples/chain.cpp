// A group as a chain: each process knows its two neighbors, and that is all. Here every process has a stretch
// of a line of text, and wants to know where its words are in the whole: a scan with an operator of its own.

#include <cstdio>
#include <wisp/wisp.hpp>

/// Words in a stretch of text, and whether a word reaches over its ends.
struct Words {
  int complete;
  bool begins_inside;
  bool ends_inside;
};

Words join(const Words& left, const Words& right) {
  const int over_the_border = left.ends_inside && right.begins_inside ? -1 : 0;
  return {left.complete + right.complete + over_the_border, left.begins_inside, right.ends_inside};
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Chain chain = wisp::Comm::duplicate(MPI_COMM_WORLD);  // local, O(1) memory
    // "one tw" "o three" "one tw" …
    const bool is_even = chain.rank() % 2 == 0;
    const Words mine{2, true, true};
    Words up_to_here{};
    chain.scan(wisp::item(mine), wisp::item(up_to_here), wisp::Operator::on<Words>(join));

    int words_before = 0;
    int words_after = 0;
    const int own = mine.complete;
    chain.double_exscan(wisp::buffer_of(own), wisp::buffer_of(words_before), wisp::buffer_of(words_after),
                        MPI_SUM);
    std::printf("rank %d (left %d, right %d) has \"%s\": %d words up to here, %d and %d pieces around it\n",
                chain.rank(), chain.left(), chain.right(), is_even ? "one tw" : "o three",
                up_to_here.complete, words_before, words_after);
  }
  MPI_Finalize();
}
