interface Visit {
  node: number;
  next: number;
}

/**
 * Find strongly connected components with more than one node or with an edge to itself. Tarjan's algorithm uses an
 * explicit stack, because user data decides the depth. The time is linear in nodes and edges.
 *
 * @param successors for each node, the targets of its edges
 * @returns components in order of their first node, nodes ascending
 */
export function cycles(successors: readonly (readonly number[])[]): number[][] {
  const order = new Int32Array(successors.length).fill(-1);
  const low = new Int32Array(successors.length);
  const onPath = new Uint8Array(successors.length);
  const path: number[] = [];
  const found: number[][] = [];
  let visited = 0;

  function enter(node: number): Visit {
    order[node] = low[node] = visited;
    visited += 1;
    path.push(node);
    onPath[node] = 1;
    return { node, next: 0 };
  }

  function lower(node: number, to: number | undefined): void {
    if (to !== undefined && to < (low[node] ?? 0)) low[node] = to;
  }

  function close(node: number): void {
    if (low[node] !== order[node]) return;
    const component = path.splice(path.lastIndexOf(node));
    for (const member of component) onPath[member] = 0;
    if (component.length > 1 || successors[node]?.includes(node)) found.push(component.sort((a, b) => a - b));
  }

  for (let start = 0; start < successors.length; start += 1) {
    if (order[start] !== -1) continue;
    const visits = [enter(start)];
    for (let top = visits.at(-1); top !== undefined; top = visits.at(-1)) {
      const { node } = top;
      const target = successors[node]?.[top.next];
      top.next += 1;
      if (target === undefined) {
        visits.pop();
        close(node);
        const parent = visits.at(-1);
        if (parent !== undefined) lower(parent.node, low[node]);
      } else if (order[target] === -1) visits.push(enter(target));
      else if (onPath[target] === 1) lower(node, order[target]);
    }
  }
  return found.sort(([a = 0], [b = 0]) => a - b);
}
