export const FLOOR_TASK_QUEUE = 'bench-floor';
