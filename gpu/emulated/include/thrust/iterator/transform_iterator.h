#ifndef HOPWAVE_EMULATED_TRANSFORM_ITERATOR_H
#define HOPWAVE_EMULATED_TRANSFORM_ITERATOR_H

namespace thrust
{

/* function(from[0]), function(from[1]), ... */
template <class Function, class From> struct transform_iterator {
    From from;
    Function function;

    template <class I> auto operator[](I i) const
    {
        return function(from[i]);
    }
};

template <class From, class Function>
transform_iterator<Function, From> make_transform_iterator(From from, Function function)
{
    return {from, function};
}

} // namespace thrust

#endif
