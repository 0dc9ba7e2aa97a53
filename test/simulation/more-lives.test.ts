import { liveManyLives } from './many-lives.ts';

liveManyLives(10_001, 90_000);
