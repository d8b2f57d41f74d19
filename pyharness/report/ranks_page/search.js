// What a search of the tree looks at.
followSearch({
  items: nodes,
  texts: ({ node }) => [node.text, node.place, node.source, node.note, node.ranks],
  show: ({ node }) => select(node),
});
