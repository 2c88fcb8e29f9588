// The page: puts the parts together.

import { App } from "./app";

void new App(document.querySelector<HTMLElement>("#page")!).begin();
