/**
 * `orphan`: nothing that it belongs to is there any more, and no purge will remove it. `unnamed`: an object whose
 * owner is there, though no record names it. `stale`: a job on the list of unfinished ones that is none. `count`: a
 * kept count that is not what there is.
 */
export interface Finding {
  kind: 'orphan' | 'unnamed' | 'stale' | 'count';
  /** Key of the item, as `pk/sk`, or of the object. */
  where: string;
  why: string;
}
