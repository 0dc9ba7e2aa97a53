import { liveManyLives } from './many-lives.ts';

liveManyLives(1);
