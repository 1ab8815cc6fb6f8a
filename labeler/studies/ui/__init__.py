"""The pages in the browser, and the web server that serves them."""
