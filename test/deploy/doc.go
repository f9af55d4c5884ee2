// Package deploy tests what users install, with the packages of the tools that install it: the Helm chart, the image and the
// compose file. It is a separate module, so that no other module requires these packages.
package deploy
