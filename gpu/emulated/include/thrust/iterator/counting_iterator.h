#ifndef HOPWAVE_EMULATED_COUNTING_ITERATOR_H
#define HOPWAVE_EMULATED_COUNTING_ITERATOR_H

namespace thrust
{

/* from, from + 1, ... */
template <class T> struct counting_iterator {
    T from;

    explicit counting_iterator(T first) : from(first)
    {
    }
    template <class I> T operator[](I i) const
    {
        return static_cast<T>(from + static_cast<T>(i));
    }
};

} // namespace thrust

#endif
