/** Counts what of a run cannot be brought as it is, by the reason. */
export class Omissions {
  readonly counts = new Map<string, number>();

  add(reason: string, count = 1): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + count);
  }
}

/** Reason for links: they may lead anywhere, and a folder of somebody else must bring no file of this machine. */
export const linksElsewhere = 'links to files elsewhere';
