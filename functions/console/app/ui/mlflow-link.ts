/** Convert a link of an MLflow client to a view: `#/experiments/<project>/runs/<project>-<experiment>`. */
export function fromMlflow(hash: string): string {
  const [, project, , experiment] = /^#\/experiments\/([^/]+)(\/runs\/\1-([^/]+))?$/.exec(hash) ?? [];
  if (project === undefined) return hash;
  return `#/projects/${project}${experiment === undefined ? '' : `/experiments/${experiment}`}`;
}
