// What a search of the frames looks at.
followSearch({
  items: frames,
  texts: ({ frame }) => [frame.function, frame.place, frame.notes, ...frame.variables.flat()],
  show: known => {
    if (known.frame.plumbing) showMachinery(true);
    select(known);
  },
});
