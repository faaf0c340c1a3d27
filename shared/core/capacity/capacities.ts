/** Where a job may run: on Spot, which AWS may take back at any time, on Spot first, or on demand. */
export const capacities = ['spot', 'spot-then-on-demand', 'on-demand'] as const;
