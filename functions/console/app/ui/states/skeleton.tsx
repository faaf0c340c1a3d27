/** Placeholder for rows that are loading. */
export const Skeleton = ({ rows = 4 }: { rows?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} class={`bar w${(index % 3) + 1}`} />
    ))}
  </div>
);
