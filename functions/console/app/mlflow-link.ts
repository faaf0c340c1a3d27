/** The place of what a link of MLflow's clients names: `#/experiments/<project>/runs/<project>-<experiment>`. */
export function fromMlflow(hash: string): string {
  const [, project, , experiment] = /^#\/experiments\/([^/]+)(\/runs\/\1-([^/]+))?$/.exec(hash) ?? [];
  if (project === undefined) return hash;
  return `#/projects/${project}${experiment === undefined ? '' : `/experiments/${experiment}`}`;
}
